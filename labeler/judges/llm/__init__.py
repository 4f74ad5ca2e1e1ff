"""The judge that is a language model: prompts, requests, runs."""
