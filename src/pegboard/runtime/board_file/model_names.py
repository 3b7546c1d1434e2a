"""Which models the `models` section of a board file may name."""

from collections.abc import Collection, Iterator

from pegboard.core.text.suggestions import did_you_mean
from pegboard.errors import ConfigError
from pegboard.runtime.board_file.language_models import ROLES, LanguageModels
from pegboard.runtime.board_file.load import LoadedBoard, Place


def check_models(loaded: LoadedBoard) -> None:
    """Check which models the `models:` section of a board names.

    Raises:
        ConfigError: A provider or a name is unknown; one line per mistake.
    """
    faults = [
        f"{loaded.where(('models', *place))}: models.{'.'.join(map(str, place))}: {fault}"
        for place, fault in _find_faults(loaded.board.models)
    ]
    if faults:
        raise ConfigError("\n".join(faults))


def _find_faults(models: LanguageModels) -> Iterator[tuple[Place, str]]:
    from pegboard.models import PROVIDERS, RERANKERS

    for role in ROLES:
        providers = RERANKERS if role == "rerank" else PROVIDERS
        if fault := _fault_of(getattr(models, role), models, providers):
            yield (role,), fault
    for name, entry in models.named.items():
        if fault := _fault_of(entry.model, LanguageModels(), {**PROVIDERS, **RERANKERS}):
            yield ("named", name, "model"), fault
        for index, fallback in enumerate(entry.fallbacks):
            if fault := _fault_of(fallback, models, PROVIDERS):
                yield ("named", name, "fallbacks", index), fault


def _fault_of(reference: str | None, models: LanguageModels, providers: Collection[str]) -> str:
    if reference is None:
        return ""
    known = ", ".join(sorted(providers))
    if reference in models.named:
        provider, colon, _ = models.named[reference].model.partition(":")
        if provider in providers or not colon:  # an entry's own fault is named at the entry
            return ""
        return f"'{reference}' is of {provider}; providers are {known}"
    provider, colon, model = reference.partition(":")
    if not colon:
        hint = did_you_mean(reference, list(models.named), otherwise="write 'provider:name'")
        return f"there is no model '{reference}' in 'named'; {hint}"
    if provider not in providers or not model:
        return f"write 'provider:name'; providers are {known}"
    return ""
