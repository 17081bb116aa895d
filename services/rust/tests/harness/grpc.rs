//! The client of tonic, and Hello by gRPC or REST.

use axum::http::StatusCode;

use tonic::transport::Channel;
use wirelab_contract::transfer::HelloRequest;
use wirelab_service_clients::transfer::transfer_client::TransferClient;

use super::Service;

pub type Client = TransferClient<Channel>;

impl Service {
    /// A tonic client; messages of any size.
    pub async fn client(&self) -> Client {
        let endpoint = format!("http://{}", self.address());
        TransferClient::connect(endpoint)
            .await
            .expect("it listens")
            // tonic refuses messages beyond 4 MiB by default.
            .max_decoding_message_size(usize::MAX)
            .max_encoding_message_size(usize::MAX)
    }

    /// Calls Hello once on a connection of its own and returns the result: the
    /// text, or why there is none.
    pub async fn hello(&self) -> Result<String, String> {
        if self.grpc {
            let mut client = self.client().await;
            let reply = client.hello(HelloRequest {}).await;
            return reply
                .map(|reply| reply.into_inner().text)
                .map_err(|status| status.to_string());
        }
        let reply = self
            .http()
            .await
            .get("/transfer/hello")
            .await
            .map_err(|e| e.to_string())?;
        if reply.status == StatusCode::OK {
            Ok(reply.greeting())
        } else {
            Err(reply.text())
        }
    }
}
