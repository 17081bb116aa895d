//! An answer that is no reply: a status and a sentence, in the service's codec.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::calls::ApplicationRefusal;
use crate::desk::Desk;
use crate::representation::Representation as _;
use wirelab_stack::Codec;

/// An answer that is no reply.
#[derive(Debug)]
pub(crate) struct Problem {
    status: StatusCode,
    codec: Codec,
    body: Vec<u8>,
    application: bool,
}

impl Problem {
    /// An answer with that status and sentence.
    pub(crate) fn new(desk: &Desk, status: StatusCode, text: impl Into<String>) -> Self {
        let codec = desk.stack.codec;
        Problem {
            status,
            codec,
            body: codec.problem(desk.contract, text.into()),
            application: false,
        }
    }

    /// The contract demands this sentence.
    pub(crate) fn application(desk: &Desk, text: String) -> Self {
        let mut problem = Problem::new(desk, StatusCode::BAD_REQUEST, text);
        if let Some(mutation) = &desk.mutation {
            mutation.bytes(&mut problem.body);
        }
        problem.application = true;
        problem
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = (self.status, self.body).into_response();
        let content_type = HeaderValue::from_static(self.codec.content_type());
        response
            .headers_mut()
            .insert(header::CONTENT_TYPE, content_type);
        if self.application {
            response.extensions_mut().insert(ApplicationRefusal);
        }
        response
    }
}
