"""Errors that are the user's to mend: printed as one line, without a traceback."""


class SigmaVAEError(Exception):
    """Something a user can put right; the message names the field or file, what is wrong and what to do."""


class ConfigError(SigmaVAEError):
    """An experiment that cannot be run as it is written."""


class DataError(SigmaVAEError):
    """Data that cannot be read, or is not what it should be."""


class RunError(SigmaVAEError):
    """A run folder that is damaged, or that belongs to another experiment."""


class DivergedError(SigmaVAEError):
    """A loss or gradient that is not finite."""


class MetricError(SigmaVAEError):
    """A metric that cannot be measured here."""
