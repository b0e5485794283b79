"""What maps, similar samples and heat maps cost and are worth, beside umap-learn, PaCMAP, faiss and captum."""
