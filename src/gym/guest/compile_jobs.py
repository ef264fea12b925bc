"""compile_kernel(request) lets the compiler of the kernel's language work. A compile worker calls it for each request.

A request names its language as a plan's kernel does: by the member that holds the code. This module imports the compilers when
it is imported, before the zygote forks.
"""

from .languages import LANGUAGES

COMPILERS = {language.CODE: language.compiler() for language in LANGUAGES}


def compile_kernel(request):
    """Returns the answer. It never raises."""
    for code, compile_code in COMPILERS.items():
        if code in request:
            return compile_code(request)
    return {"error": {"class": "bad_request", "message": "the request holds the code of no language that is known here",
                      "line": 0, "excerpt": ""}}
