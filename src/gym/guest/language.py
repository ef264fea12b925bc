"""Language: what the guests' shared modules ask of a kernel language. languages.py lists the languages.

The zygote makes the languages' objects before it imports the packages that kernels are written with. So only an object's
methods may import its language's package.
"""

from abc import ABC, abstractmethod


class Language(ABC):
    __slots__ = ()  # so that nothing can hide a method of an object

    TITLE = ""    # the language's name in messages, such as "Triton"
    PACKAGE = ""  # the package that kernels import, such as "triton"
    CODE = ""     # the member that holds a kernel's code, in plans and in compile requests (gym/plan/kernel_language.h)
    MODULES = ()  # importing these modules imports everything that a capture needs from the environment
    WATCHED_MODULES = ()  # nothing in these modules may change, not even for a while

    @abstractmethod
    def install(self):
        """Makes the language's package ask the virtual GPU and record launches, in the whole process."""

    @abstractmethod
    def warm_up(self, capture_sample):
        """Captures and compiles samples, before the zygote forks. `capture_sample` turns a request into a plan."""

    @abstractmethod
    def environment(self, folder):
        """Returns the environment variables by which the language keeps its files in this folder."""

    @abstractmethod
    def begin_capture(self, recorder, kernels):
        """Records launches until end_capture(): it adds each new kernel to the plan's `kernels`, and the launches to the
        recorder's steps."""

    @abstractmethod
    def end_capture(self):
        """Refuses launches until the next capture begins."""

    @abstractmethod
    def is_own_error(self, error):
        """Tells whether the language's compiler raised this."""

    @abstractmethod
    def message_and_line(self, error, path):
        """Returns the message of an own error, and its line in the captured file `path` or 0."""

    @abstractmethod
    def compiler(self):
        """Imports the language's compiler and returns its function, which turns a compile request into an answer and never
        raises."""

    @abstractmethod
    def programs(self):
        """Returns the programs that a compile worker may start. There are none if the process has not imported the package."""
