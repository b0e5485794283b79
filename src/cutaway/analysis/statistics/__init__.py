"""What is likely chance and what is not. Works on figures; knows no samples."""
