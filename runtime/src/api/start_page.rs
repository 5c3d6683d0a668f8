//! The text that clients other than browsers get at the URL of a stack, of a spreadsheet or of a share
//! link. It says which command to type. Id and secret are in the fragment of the URL, which no client
//! sends.

use axum::http::header::{CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use axum::response::{IntoResponse, Response};

pub(super) fn respond(stack: &str) -> Response {
    let headers =
        [(CONTENT_TYPE, "text/plain; charset=utf-8"), (X_CONTENT_TYPE_OPTIONS, "nosniff")];
    (headers, describe(stack)).into_response()
}

fn describe(stack: &str) -> String {
    format!(
        "This is the stack {stack} of Cellar, a spreadsheet backend. Open this address in a browser to see its page.

To read a spreadsheet in a terminal, copy the whole address of its link, and type it in quotes:

  cellar get -s 'ADDRESS'

To work with the stack in a terminal, type the address without the part from # on, and then your token:

  cellar login ADDRESS

Programs use the HTTP API, which /v1/openapi.json describes.
"
    )
}
