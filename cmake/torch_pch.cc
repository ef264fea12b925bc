// Carries the precompiled header that every folder with torch reuses.
