"""The one seam to models: embeddings now, language models later."""
