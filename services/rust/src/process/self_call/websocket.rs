//! The call over WebSocket, by the client of tokio-tungstenite.

use futures_util::{SinkExt, StreamExt};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_tungstenite::client_async;
use tokio_tungstenite::tungstenite::Message;
use wirelab_contract::Call;
use wirelab_stack::Codec;

use super::{SelfCallError, WithRequest, with_request};
use crate::binding::websocket::to_message;
use crate::documents::config::ServiceConfig;
use crate::service::state::ServiceState;

/// Calls Feed and reads its items.
pub(super) async fn exchange(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    config: &ServiceConfig,
    state: &ServiceState,
) -> Result<(), SelfCallError> {
    let request = with_request(state.contract, MakeRequest(config.stack.codec));
    let (mut socket, _) = client_async("ws://localhost/stream/feed", stream).await?;
    socket.send(request).await?;
    let mut items = 0;
    while let Some(message) = socket.next().await.transpose()? {
        match message {
            Message::Text(text) if text.is_empty() && items > 0 => return Ok(()),
            Message::Text(text) if text.is_empty() || text.starts_with(r#"{"error":"#) => {
                return Err(SelfCallError::Answer(format!("{text:?}")));
            }
            _ => items += 1,
        }
    }
    Err(SelfCallError::Answer(format!("{items} items and no end")))
}

struct MakeRequest(Codec);

impl WithRequest for MakeRequest {
    type Output = Message;

    fn with<M: wirelab_contract::Message>(self, _: &Call, message: &M) -> Message {
        to_message(self.0, message)
    }
}
