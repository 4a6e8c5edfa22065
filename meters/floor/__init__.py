"""The floor file and what it names: addresses, identities, credentials, gaming day, branding."""
