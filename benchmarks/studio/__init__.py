"""How fast the studio's page is, beside an empty page and TensorBoard, in a headless Chromium."""
