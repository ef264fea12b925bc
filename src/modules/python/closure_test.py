"""Tests that a class of several files becomes one file that behaves alike, and that what cannot be followed is named."""

import os
import sys
import tempfile
import textwrap
import types
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from tritonsmith_modules.problem import Problem  # noqa: E402
from tritonsmith_modules.task import make_task  # noqa: E402

IMPORTS = "import torch\nfrom torch import nn\n"
EMPTY = "class Block(nn.Module):\n    def forward(self, x):\n        return x\n"


class Closure(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def write(self, **files):
        """Writes files. Two underscores in a name stand for a slash, and `init` for a package's own file."""
        for name, text in files.items():
            name = "/".join("__init__" if part == "init" else part for part in name.split("__"))
            path = os.path.join(self.folder.name, name + ".py")
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as file:
                file.write(textwrap.dedent(text))

    def source(self, target, inputs="torch.ones(2)", init="", dtype="", path=()):
        return make_task({"target": target, "inputs": [inputs], "init": init, "dtype": dtype, "folder": self.folder.name,
                          "path": list(path)})["sources"][0]

    def result(self, *arguments, **options):
        """Runs the task as KernelBench does, and returns what its forward returns."""
        sys.modules["task"] = module = types.ModuleType("task")
        space = module.__dict__
        exec(compile(self.source(*arguments, **options), "task.py", "exec", dont_inherit=True), space)
        init = space["get_init_inputs"]()
        is_pair = len(init) == 2 and isinstance(init[1], dict)
        model = space["Model"](*init[0], **init[1]) if is_pair else space["Model"](*init)
        return model(*space["get_inputs"]())

    def refused(self, *arguments, **options):
        with self.assertRaises(Problem) as caught:
            self.source(*arguments, **options)
        self.assertNotIn("\n", str(caught.exception))
        return str(caught.exception)

    def test_a_class_comes_with_what_it_uses_of_other_files_and_nothing_else(self):
        self.write(net__init="", net__ops="""
            import torch
            SCALE = 3
            def scaled(x):
                return x * SCALE
            def unused():
                return SCALE
            """, net__block="""
            import os
            from torch import nn
            from .ops import scaled as grow
            print("this statement has no part in the class")
            class Block(nn.Module):
                def forward(self, x):
                    return grow(x)
            class Other(Block):
                pass
            """)
        source = self.source("net/block.py:Block")
        for name in ("unused", "import os", "print", "Other"):
            self.assertNotIn(name, source)
        for target in ("net/block.py:Block", "net.block:Block"):
            self.assertEqual(self.result(target).tolist(), [3, 3])

    def test_names_of_two_files_do_not_clash(self):
        self.write(a="def scale(x):\n    return x * 2\n", b="import a\nscale = 5\ndef both(x):\n    scale_of_a = 0\n"
                   "    return a.scale(x) + scale + scale_of_a\n",
                   m=IMPORTS + "from b import both\nimport a\nclass Block(nn.Module):\n    def forward(self, x):\n"
                   "        scale = a.scale(x)\n        return both(scale)\n")
        self.assertEqual(self.result("m.py:Block").tolist(), [9, 9])

    def test_a_name_in_a_formatted_string_changes_with_the_others(self):
        self.write(a="def name():\n    return 'a'\n", m=IMPORTS + "import a\ndef name():\n    return 'm'\n"
                   "def f(x):\n    assert f'{a.name()}{name()}' == 'am'\n    return x\n")
        self.assertEqual(self.result("m.py:f").tolist(), [1, 1])

    def test_the_names_of_the_format_stay_free(self):
        self.write(m=IMPORTS + "def get_inputs():\n    return 3\nclass Model(nn.Module):\n    def forward(self, x, *, k):\n"
                   "        return x * get_inputs() * k\n")
        self.assertEqual(self.result("m.py:Model", "torch.ones(2), k=2").tolist(), [6, 6])
        self.assertEqual(self.source("m.py:Model", "torch.ones(2), k=2").count("class Model("), 1)
        self.write(plain=IMPORTS + EMPTY.replace("Block", "Model"))
        self.assertEqual(self.source("plain.py:Model").count("class Model"), 1)

    def test_a_statement_that_changes_a_table_comes_along(self):
        self.write(m=IMPORTS + "TABLE = {}\nLIST = []\ndef add(x):\n    return x + 1\nTABLE['add'] = add\nLIST.append(4)\n"
                   "def f(x):\n    return TABLE['add'](x) * LIST[0]\n")
        self.assertEqual(self.result("m.py:f").tolist(), [8, 8])

    def test_what_loading_runs_comes_first(self):
        self.write(late="import torch\nfrom early import Base\nclass Late(Base):\n    pass\n", early=IMPORTS + """
class Base(nn.Module):
    def forward(self, x):
        from late import Late
        return x if isinstance(self, Late) else Late()(x) * FACTOR
FACTOR = 7
""", m="import early\nBlock = early.Base\n", made="from torch import nn\nfrom ops import make\nf = make()\n"
                   "def g(x):\n    return f(x)\n",
                   ops="def make():\n    return inner\ndef inner(x):\n    return x * 4\n")
        self.assertEqual(self.result("m.py:Block").tolist(), [7, 7])
        self.assertEqual(self.result("made.py:g").tolist(), [4, 4])

    def test_imports_in_other_statements_and_with_stars_are_followed(self):
        self.write(p__init="from .x import *\n", p__x="__all__ = ['f']\ndef f(x):\n    return x * 2\n", p__y="""
            try:
                from .fast import g
            except ImportError:
                g = None
            try:
                from .x import f as h
            except ImportError:
                h = None
            def both(x):
                from .x import f
                return f(h(x)) if g is None else g(x)
            """)
        self.assertEqual(self.result("p:f").tolist(), [2, 2])
        self.assertEqual(self.result("p.y:both").tolist(), [4, 4])

    def test_scopes_hide_global_names(self):
        self.write(m=IMPORTS + "import os\nx = os.environ['NO_SUCH_VARIABLE']\ndef f(x):\n    return [x for x in x][0] + (lambda x: x)(x)\n"
                   "class C:\n    x = 3\n    y = x\n")
        self.assertEqual(self.result("m.py:f").tolist(), [2, 2])

    def test_types_in_annotations_are_no_dependencies_but_for_a_dataclass(self):
        self.write(m=IMPORTS + "import dataclasses\nclass Unused: pass\nclass Size(int): pass\n@dataclasses.dataclass\n"
                   "class Config:\n    size: Size = Size(3)\nclass Block(nn.Module):\n    def __init__(self, config: Config):\n"
                   "        super().__init__()\n        self.size = config.size\n    def forward(self, x: Unused) -> Unused:\n"
                   "        return x * self.size\n")
        self.assertEqual(self.result("m.py:Block", init="Config()").tolist(), [3, 3])
        self.assertNotIn("class Unused", self.source("m.py:Block", init="Config()"))

    def test_imports_for_type_checkers_say_what_a_lazy_package_holds(self):
        self.write(p__init="""
            from typing import TYPE_CHECKING
            if TYPE_CHECKING:
                from .m import Block
            else:
                import sys
                sys.modules[__name__] = None
            """, p__m=IMPORTS + "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from no_such_package_here import Shape\n"
                   "class Block(nn.Module):\n    def forward(self, x: Shape):\n        return x\n")
        self.assertEqual(self.result("p:Block").tolist(), [1, 1])

    def test_a_script_is_not_run(self):
        self.write(train=IMPORTS + """
import argparse
import sys
WIDTH = 2
class Block(nn.Module):
    def __init__(self, width=WIDTH):
        super().__init__()
        self.norm = nn.LayerNorm(width)
    def forward(self, x):
        return self.norm(x) * 0 + 1
class Deep(Block):
    def forward(self, x):
        return super().forward(x) * args.depth
class Wide(Block):
    def forward(self, x):
        return super().forward(x) * width
args = argparse.ArgumentParser().parse_args()
model = Block()
for step in range(10):
    raise SystemExit("trained")
if __name__ == "__main__":
    width = 3
    sys.exit(1)
""")
        self.assertEqual(self.result("train.py:Block", "torch.ones(WIDTH)").tolist(), [1, 1])
        self.assertRegex(self.refused("train.py:Deep"), r"train.py line \d+ reads the command line .*--init")
        self.assertRegex(self.refused("train.py:Wide"), r"train.py line 18 uses `width`, which only the block")
        self.assertIn("model is a value", self.refused("train.py:model"))

    def test_what_cannot_be_followed_is_named_with_its_line(self):
        self.write(p__init="", p__m=IMPORTS + "from ..far import thing\nfrom . import ops\n" + EMPTY +
                   "def f(x):\n    return thing(x)\ndef g(x):\n    return getattr(ops, 'h')(x)\ndef k(x):\n    return ops.none(x)\n"
                   "import no_such_package_here\ndef n(x):\n    return no_such_package_here.n(x)\n", p__ops="h = abs\n",
                   broken="def f(:\n", q__m="")
        self.assertIn("Block", self.source("p/m.py:Block"))
        self.assertIn("p/m.py line 3: `from ..far import thing` leads to no file", self.refused("p/m.py:f"))
        self.assertRegex(self.refused("p/m.py:g"), r"p/m.py line 11 uses the module ops \(p/ops.py\) as a value")
        self.assertIn("p/ops.py does not define", self.refused("p/m.py:k"))
        self.assertRegex(self.refused("p/m.py:n"), "line 14: .* has no module no_such_package_here; install it")
        self.assertIn("did you mean Block?", self.refused("p/m.py:Blok"))
        self.assertIn("No such file", self.refused("q.py:Block"))
        self.assertIn("no module of this name", self.refused("no_such_package_here:Block"))
        self.assertIn("a folder without __init__.py", self.refused("q:f"))
        self.assertIn("broken.py line 1: invalid syntax", self.refused("broken.py:f"))

    def test_modules_are_found_below_the_path_and_installed_ones_are_taken_over(self):
        self.write(lib__deep__m=IMPORTS + EMPTY)
        self.assertIn("class Block", self.source("deep.m:Block", path=[os.path.join(self.folder.name, "lib")]))
        source = self.source("torch.nn.modules.activation:ReLU")
        self.assertIn("class Model(ReLU)", source)
        self.assertIn("def extra_repr", source)


if __name__ == "__main__":
    unittest.main()
