"""What workers are asked. Runs in a worker only: here latents, bindings and models are read and users' code is run."""
