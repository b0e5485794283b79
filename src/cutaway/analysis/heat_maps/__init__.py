"""Heat maps: where a model looked. Functions over what every `Model` answers, the same for every format."""
