"""The floor file: its addresses, identities, credentials, gaming days and branding."""
