"""One HTTP call for embeddings, bounded and told apart like the calls for chat."""

import json
from typing import Any

from memaudit.models.transport import LONGEST_ERROR, CallFailed, OpenAITransport


class EmbeddingTransport(OpenAITransport):
    """The same address, key and limits; another endpoint."""

    def send(self, body: dict[str, Any]) -> object:
        """The response to one POST of /embeddings."""
        try:
            with self._client.embeddings.with_streaming_response.create(
                model=body["model"], input=body["input"], encoding_format="float"
            ) as response:
                data = self._bounded(response.iter_bytes())
        except self._openai.APIError as error:
            raise self._failed(error) from None
        except self._broken_off as error:
            raise self._lost(error) from None
        try:
            return json.loads(data)
        except (ValueError, RecursionError):
            start = self._clean(data[:LONGEST_ERROR].decode("utf-8", "replace"))
            raise CallFailed(f"the response is not JSON: {start!r}") from None
