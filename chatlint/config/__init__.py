"""What a check depends on beside its targets, from a configuration file, the command line or a caller."""

from chatlint.config.settings import FailOn, Profile, Settings, fail_on, nearest, profile

__all__ = ["FailOn", "Profile", "Settings", "fail_on", "nearest", "profile"]
