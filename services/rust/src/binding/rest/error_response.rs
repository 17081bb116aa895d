//! An answer that is not a reply: a status and a sentence, in the service's codec.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use crate::binding::http::calls::IsApplicationError;
use crate::codec::Representation as _;
use crate::service::CallError;
use crate::service::state::ServiceState;
use wirelab_contract::{Contract, DATABASE_UNAVAILABLE};
use wirelab_stack::Codec;

/// An answer that is not a reply.
#[derive(Debug)]
pub(crate) struct ErrorResponse {
    status: StatusCode,
    codec: Codec,
    body: Vec<u8>,
    application: bool,
    /// The field `errors`, which petclinic demands where a body is invalid.
    errors: Option<&'static str>,
}

/// An error of petclinic in JSON.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ErrorInfo<'a> {
    class_name: &'a str,
    ex_message: &'a str,
}

impl ErrorResponse {
    /// An answer with that status and sentence.
    pub(crate) fn new(state: &ServiceState, status: StatusCode, text: impl Into<String>) -> Self {
        let (codec, text) = (state.stack.codec, text.into());
        let body = match (state.contract, codec) {
            (Contract::Petclinic, Codec::Json) => {
                let info = ErrorInfo {
                    class_name: status.canonical_reason().unwrap_or_default(),
                    ex_message: &text,
                };
                serde_json::to_vec(&info).expect("two texts can be written")
            }
            (contract, _) => codec.write_error(contract, &text),
        };
        ErrorResponse {
            status,
            codec,
            body,
            application: false,
            errors: None,
        }
    }

    /// The answer to a body that is not a message.
    pub(crate) fn malformed(state: &ServiceState, text: impl Into<String>) -> Self {
        let mut problem = ErrorResponse::new(state, StatusCode::BAD_REQUEST, text);
        problem.errors = (state.contract == Contract::Petclinic).then_some("malformed body");
        problem
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
                errors: None,
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
        problem.errors = (state.contract == Contract::Petclinic).then_some("invalid request");
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
        if let Some(errors) = self.errors {
            fields.insert("errors", HeaderValue::from_static(errors));
        }
        if self.application {
            response.extensions_mut().insert(IsApplicationError);
        }
        response
    }
}
