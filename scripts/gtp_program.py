"""A GTP program at the other end of two pipes, for the scripts of this folder."""

import subprocess
import sys
import threading


class Program:
    """A GTP program; a reply that does not come within `timeout` seconds ends the script."""

    def __init__(self, name, command, timeout):
        self.name, self.timeout = name, timeout
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )

    def reply(self, line):
        """Whether the program agrees, and what it says without its `=` or `?`."""
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        watchdog = threading.Timer(self.timeout, self.process.kill)
        watchdog.start()
        lines = []
        try:
            while True:
                got = self.process.stdout.readline()
                if got == "":
                    sys.exit(f"{self.name} died or timed out at: {line}")
                if got.strip():
                    lines.append(got.rstrip("\n"))
                elif lines:
                    break
        finally:
            watchdog.cancel()
        text = "\n".join([lines[0][1:].strip()] + lines[1:]).strip()
        return lines[0].startswith("="), text

    def ask(self, line):
        """The reply without its `=`, or None where the program answers with an error."""
        agreed, text = self.reply(line)
        return text if agreed else None
