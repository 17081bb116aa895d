//! An answer that is no reply: a status and a sentence, in the service's codec.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::binding::http::calls::IsApplicationError;
use crate::codec::Representation as _;
use crate::service::CallError;
use crate::service::state::ServiceState;
use wirelab_contract::{Contract, DATABASE_UNAVAILABLE};
use wirelab_stack::Codec;

/// An answer that is no reply.
#[derive(Debug)]
pub(crate) struct ErrorResponse {
    status: StatusCode,
    codec: Codec,
    body: Vec<u8>,
    application: bool,
    /// The field `errors`, which petclinic demands of an invalid request.
    errors: bool,
}

impl ErrorResponse {
    /// An answer with that status and sentence.
    pub(crate) fn new(state: &ServiceState, status: StatusCode, text: impl Into<String>) -> Self {
        let codec = state.stack.codec;
        ErrorResponse {
            status,
            codec,
            body: codec.write_error(state.contract, &text.into()),
            application: false,
            errors: false,
        }
    }

    /// The answer to a call that has no reply.
    pub(crate) fn of_call(state: &ServiceState, error: CallError) -> Self {
        match error {
            CallError::Application(text) => ErrorResponse::application(state, text),
            // The application answers 404 without a body (contracts/README.md, petclinic).
            CallError::NotFound(_) => ErrorResponse {
                status: StatusCode::NOT_FOUND,
                codec: state.stack.codec,
                body: Vec::new(),
                application: true,
                errors: false,
            },
            CallError::Unavailable => {
                let status = StatusCode::SERVICE_UNAVAILABLE;
                ErrorResponse::new(state, status, DATABASE_UNAVAILABLE)
            }
        }
    }

    /// The contract demands this sentence.
    fn application(state: &ServiceState, text: String) -> Self {
        let mut problem = ErrorResponse::new(state, StatusCode::BAD_REQUEST, text);
        if let Some(mutation) = &state.mutation {
            mutation.bytes(&mut problem.body);
        }
        problem.application = true;
        // Spring PetClinic reports violations in this header field; its content is free.
        problem.errors = state.contract == Contract::Petclinic;
        problem
    }
}

impl IntoResponse for ErrorResponse {
    fn into_response(self) -> Response {
        let without_body = self.body.is_empty();
        let mut response = (self.status, self.body).into_response();
        let fields = response.headers_mut();
        if without_body {
            // axum names a type for bytes, whether there are any or not.
            fields.remove(header::CONTENT_TYPE);
        } else {
            let content_type = HeaderValue::from_static(self.codec.content_type());
            fields.insert(header::CONTENT_TYPE, content_type);
        }
        if self.errors {
            fields.insert("errors", HeaderValue::from_static("invalid request"));
        }
        if self.application {
            response.extensions_mut().insert(IsApplicationError);
        }
        response
    }
}
