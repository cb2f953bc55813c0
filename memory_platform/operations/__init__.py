"""How the platform is watched: health, metrics and logs. None of them ever holds text, a subject or a credential."""
