// The page of a frozen copy: the same, with the rules by which the copy answers.

import { answerBy } from "./api/frozen";
import { frozenAnswer } from "./api/frozen_rules";

answerBy((path, query) => frozenAnswer(path, query));
void import("./main");
