"""`tritonsmith capture` puts this file's folder in front of PYTHONPATH. Python imports it when it starts."""

from tritonsmith_modules.capture_start import start

start()
