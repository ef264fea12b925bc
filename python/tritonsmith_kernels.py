"""The plug-in for verifiers under the name `tritonsmith-kernels`.

verifiers 0.4 and later find `KernelTaskset` and `KernelEnv` here (v1), verifiers 0.1 finds `load_environment` (v0). Both
import a module with the plug-in's name, so this module lies beside the package.
"""

import verifiers as _verifiers

__all__: list[str]

if hasattr(_verifiers, "Rubric"):
    from tritonsmith.verifiers_v0 import load_environment

    __all__ = ["load_environment"]
else:
    from tritonsmith.verifiers_v1 import KernelEnv, KernelTaskset

    __all__ = ["KernelEnv", "KernelTaskset"]
