"""`wirelab drive`: the engine alone against one server, and advice on the result."""
