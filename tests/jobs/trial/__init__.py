"""Handlers for tests with real worker processes; they say what they do in files of the folder TRIAL_FOLDER."""
