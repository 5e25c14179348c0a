"""Shell completion of commands, options and names on the hub."""
