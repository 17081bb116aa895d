//! The messages as a user of the peers would write them: plain structures
//! with derived forms, and the root of XML with its namespace.

use serde::{Deserialize, Serialize};
use wirelab_contract::{charging, transfer};

/// A record of a batch.
#[derive(Clone, PartialEq, prost::Message, Serialize, Deserialize)]
pub struct Record {
    #[prost(int64, tag = "1")]
    pub id: i64,
    #[prost(int32, tag = "2")]
    pub quantity: i32,
    #[prost(string, tag = "3")]
    pub item: String,
    #[prost(string, tag = "4")]
    pub remark: String,
}

/// A batch.
#[derive(Clone, PartialEq, prost::Message, Serialize, Deserialize)]
pub struct SubmitRequest {
    #[prost(string, tag = "1")]
    pub batch: String,
    #[prost(message, repeated, tag = "2")]
    pub records: Vec<Record>,
}

/// A question for an account.
#[derive(Clone, PartialEq, prost::Message, Serialize, Deserialize)]
pub struct CreditControlRequest {
    #[prost(int32, tag = "1")]
    pub id: i32,
}

/// [`SubmitRequest`] as the root of an XML document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename = "SubmitRequest")]
pub struct SubmitElement {
    #[serde(rename = "@xmlns")]
    pub xmlns: String,
    pub batch: String,
    pub records: Vec<Record>,
}

/// [`CreditControlRequest`] as the root of an XML document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename = "CreditControlRequest")]
pub struct CreditControlElement {
    #[serde(rename = "@xmlns")]
    pub xmlns: String,
    pub id: i32,
}

impl From<&transfer::SubmitRequest> for SubmitRequest {
    fn from(request: &transfer::SubmitRequest) -> Self {
        let records = request.records.iter().map(|record| Record {
            id: record.id,
            quantity: record.quantity,
            item: record.item.clone(),
            remark: record.remark.clone(),
        });
        SubmitRequest {
            batch: request.batch.clone(),
            records: records.collect(),
        }
    }
}

impl From<&charging::CreditControlRequest> for CreditControlRequest {
    fn from(request: &charging::CreditControlRequest) -> Self {
        CreditControlRequest { id: request.id }
    }
}

impl From<SubmitRequest> for SubmitElement {
    fn from(request: SubmitRequest) -> Self {
        SubmitElement {
            xmlns: "urn:wirelab:transfer:v1".to_owned(),
            batch: request.batch,
            records: request.records,
        }
    }
}

impl From<CreditControlRequest> for CreditControlElement {
    fn from(request: CreditControlRequest) -> Self {
        CreditControlElement {
            xmlns: "urn:wirelab:charging:v1".to_owned(),
            id: request.id,
        }
    }
}
