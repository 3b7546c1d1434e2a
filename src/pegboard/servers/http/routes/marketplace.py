"""`/marketplace`: browse external catalogues, review an entry, and add it as reviewed."""

from typing import Annotated, Any

from fastapi import APIRouter, Body, Path, Query, Response
from starlette.exceptions import HTTPException

from pegboard.errors import InvalidRequest
from pegboard.features.marketplace import EntryQuery
from pegboard.features.marketplace.schemas import (
    AddBody,
    AddedAnswer,
    EntryList,
    MarketplaceFilter,
    ReviewAnswer,
    ReviewFilter,
    addition_to_dict,
)
from pegboard.servers.http.dependencies import Board, Caller
from pegboard.servers.http.json_body import JsonResponse, JsonRoute
from pegboard.servers.http.openapi import refusals
from pegboard.servers.http.routes.execute import Key

router = APIRouter(route_class=JsonRoute, tags=["marketplace"])

MarketplaceName = Annotated[
    str, Path(min_length=1, max_length=100, description="Its name in the board file.")
]
EntryName = Annotated[
    str, Path(min_length=1, max_length=300, description="Its name in the catalogue.")
]


@router.get("/marketplace", response_model=EntryList, responses=refusals(404))
async def browse_marketplaces(
    board: Board, caller: Caller, wanted: Annotated[MarketplaceFilter, Query()]
) -> Response:
    """List the entries of external catalogues, and the state of each catalogue."""
    try:
        found = await board.marketplace.browse(EntryQuery(**wanted.model_dump()), principal=caller)
    except InvalidRequest as error:  # the rest of the query is valid
        raise HTTPException(404, "No page has this cursor.") from error
    return JsonResponse(found)


@router.get(
    "/marketplace/{marketplace}/{entry:path}",
    response_model=ReviewAnswer,
    responses=refusals(400, 404),
)
async def review_entry(
    board: Board,
    caller: Caller,
    marketplace: MarketplaceName,
    entry: EntryName,
    wanted: Annotated[ReviewFilter, Query()],
) -> Response:
    """Review an entry: shows everything that adding it would register, and changes nothing."""
    review = await board.marketplace.review(marketplace, entry, wanted.choice(), principal=caller)
    return JsonResponse(dict(review.shown))


@router.post(
    "/marketplace/{marketplace}/{entry:path}",
    status_code=201,
    response_model=AddedAnswer,
    responses=refusals(400, 404, 409, 413, 415)
    | {200: {"model": AddedAnswer, "description": "All of it was registered already."}},
)
async def add_entry(
    board: Board,
    caller: Caller,
    marketplace: MarketplaceName,
    entry: EntryName,
    wanted: Annotated[AddBody, Body()],
    key: Key = "",
) -> Response:
    """Register the tools of an entry, if they are unchanged since the review."""

    async def work() -> dict[str, Any]:
        review, made = await board.marketplace.add(
            marketplace, entry, wanted.choice(), digest=wanted.digest, principal=caller
        )
        return addition_to_dict(review, made)

    request = {"marketplace": marketplace, "entry": entry, **wanted.model_dump()}
    answer = await board.once.do(
        work,
        what="marketplace",
        key=key,
        request=request,
        principal=caller,
        may_repeat=True,  # the digest fixes what is registered, and known definitions stay
    )
    return JsonResponse(answer, 200 if answer["already"] else 201)
