"""A picture of the scene as a visitor sees it, drawn by his browser."""

from __future__ import annotations

from io import BytesIO
from typing import Final

import imageio.v3
import numpy as np
import viser

from biela.errors import BielaError

__all__ = ["picture"]

#: How long a browser is waited for (s): one without a graphics card may take seconds.
_PATIENCE: Final = 30.0
_WHITE: Final = 255.0


def picture(client: viser.ClientHandle, name: str) -> tuple[str, bytes]:
    """The scene on white, as large as its window; not to be asked in the thread of the server.

    Args:
        client: The page.
        name: Of the file.

    Raises:
        BielaError: The browser does not answer.
    """
    camera = client.camera
    try:
        drawn = client.get_render(
            camera.image_height, camera.image_width, transport_format="png", timeout=_PATIENCE
        )
    except (RuntimeError, TimeoutError) as error:
        raise BielaError(f"the browser gives no picture: {error}") from error
    colour, cover = drawn[..., :3].astype(float), drawn[..., 3:] / _WHITE
    flat = np.round(cover * colour + (1.0 - cover) * _WHITE).astype(np.uint8)
    file = BytesIO()
    imageio.v3.imwrite(file, flat, extension=".png")
    return name, file.getvalue()
