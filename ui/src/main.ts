import "./app.css";
import { mount } from "svelte";
import App from "./App.svelte";
import { askAhead } from "./api/client";
import { firstQuestions } from "./lib/first_questions";
import { router } from "./lib/router.svelte";

for (const [path, query] of firstQuestions(router.route, router.query)) askAhead(path, query);

const target = document.getElementById("app");
if (target) mount(App, { target });
