"""What people who write a storage, an adapter or a rule test it with. Import from its modules; some need pytest."""
