"""The list of the kernel languages. The guests' other shared modules ask these objects, and name no language themselves.

A new language adds its object here. language.py says what such an object must offer.
"""

from . import triton_language

LANGUAGES = (triton_language.TritonLanguage(),)
PACKAGES = tuple(language.PACKAGE for language in LANGUAGES)
TITLES = " or ".join(language.TITLE for language in LANGUAGES)  # for messages


def environment(folder):
    """Returns the environment variables by which all languages keep their files in this folder."""
    return {name: value for language in LANGUAGES for name, value in language.environment(folder).items()}
