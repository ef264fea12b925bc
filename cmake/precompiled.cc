// Carries a precompiled header (precompiled.cmake).
