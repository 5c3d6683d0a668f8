"""Checks of Schemathesis that judge a reply by its body. See `schemathesis.toml`."""

import re

import schemathesis

URN = "urn:cellar:problem:"

# Problem types of requests that follow the description: JSON Schema cannot express the rule, because it concerns the
# state or several values together.
BY_STATE = {
    "deleted",
    "feed-generation-changed",
    "incomplete-import",
    "invalid-import",
    "invalid-sharing",
    "invalid-upload",
    "precondition-failed",
    "range-too-large",
    "reload-required",
    "too-large",
    "unknown-position",
}
# Other rules that JSON Schema cannot express. Their problem type is that of an invalid request.
OTHER_RULES = [
    "must start at 1 and be consecutive",
    "an undo or revert must be the only mutation",
    "the request references no chunk",
    "it must be 1 to 20",  # The limit of a feed with payloads.
    "extends beyond the largest possible sheet",
    "^the parameter `sheet` is",  # The range is in another sheet.
    "the checkpoint is after the end of the feed",
    "send the smaller number first",  # The first row or column is after the last one.
    "the cursor is invalid",  # The cells of the cursor are not in order, or not in the sheet.
    # The syntax of conditions and of regular expressions.
    "is not a condition: ",
    "blank rows fulfil all conditions",
    "^there are more than 16 conditions",
    "the regular expression is invalid",
    "^the compiled regular expression has more than",
    "^`sum` is not a column",
    # JSON Schema takes 7.0 for an integer.
    r"invalid type: floating point `-?\d+\.0`, expected (u32|u64|the number of a position)",
]


@schemathesis.hook
def before_call(ctx, case, kwargs):
    """Omits `If-Match` where Schemathesis fills it with another text than an ETag while it varies another value."""
    if case.meta is None or not case.meta.generation.mode.is_positive or "If-Match" not in case.headers:
        return
    if not re.fullmatch(r'"\d{1,19}"', case.headers["If-Match"]):
        del case.headers["If-Match"]


@schemathesis.check
def refused_for_a_known_reason(ctx, response, case):
    """Requires a known problem type in the refusal of a request that follows the description."""
    if case.meta is None or not case.meta.generation.mode.is_positive:
        return
    if response.status_code not in (400, 410, 412, 413, 422):
        return
    problem = response.json()
    kind = problem["type"].removeprefix(URN)
    if kind in BY_STATE:
        return
    if any(re.search(reason, problem["detail"]) for reason in OTHER_RULES):
        return
    raise AssertionError(f"refused although it follows the description: {problem['detail']}")


@schemathesis.check
def rejected_in_the_reply(ctx, response, case):
    """Requires a rejection or an error in a reply with status 200 to an invalid request."""
    if case.meta is None or case.meta.generation.mode.is_positive or response.status_code != 200:
        return
    if case.operation.definition.raw["operationId"] not in ("appendMutations", "pushMutations", "pullChanges"):
        return
    reply = response.json()
    # A mutation is not read if its id is already committed, or if earlier mutations are missing.
    statuses = {result["status"] for result in reply.get("results", [])}
    if "error" not in reply and not statuses & {"rejected", "duplicate", "gap"}:
        raise AssertionError("an invalid request was accepted")
