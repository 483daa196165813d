"""What every test shares."""

import pytest


@pytest.fixture(autouse=True, scope="session")
def _own_cache(tmp_path_factory: pytest.TempPathFactory):
    """Prepared data goes to a folder of the tests, never to the user's own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SIGMAVAE_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield
