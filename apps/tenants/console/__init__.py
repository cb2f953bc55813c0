"""The console's frame: its site, who sees what in it, and the bases that every app's admin/ package builds on."""
