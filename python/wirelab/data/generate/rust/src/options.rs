//! The program's options.

use std::path::PathBuf;

use super::compression::Coding;
use super::contract::STACKS;
use super::rules::Numbered;

/// What the program is to serve, and where.
pub struct Options {
    /// rest, soap or grpc.
    pub binding: String,
    /// Of the messages.
    pub codec: String,
    /// Address to listen on, with its port.
    pub address: (String, u16),
    /// File with the sample reply.
    pub reply: PathBuf,
    /// Of bodies; none for none.
    pub compression: Option<Coding>,
    /// HTTP/2 with prior knowledge.
    pub http2: bool,
    /// What carries the number of a reply.
    pub numbered: Numbered,
    /// Threads that run the service.
    pub processors: usize,
}

impl Options {
    /// Reads them from arguments such as `--port 8080`.
    ///
    /// # Errors
    /// What cannot be honoured.
    pub fn read(arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let all = std::thread::available_parallelism().map_or(1, usize::from);
        let mut read = Options {
            binding: String::new(),
            codec: String::new(),
            address: ("127.0.0.1".to_owned(), 0),
            reply: PathBuf::new(),
            compression: None,
            http2: false,
            numbered: Numbered::Numbers,
            processors: all,
        };
        let mut transport = None;
        let mut arguments = arguments;
        while let Some(option) = arguments.next() {
            let value = arguments.next();
            let value = value.ok_or_else(|| format!("{option} has no value"))?;
            match option.as_str() {
                "--transport" => transport = Some(value),
                _ => read.take(&option, value)?,
            }
        }
        read.http2 = match transport.as_deref() {
            None => read.binding == "grpc",
            Some("http/2") => true,
            Some("http/1.1") if read.binding != "grpc" => false,
            Some(other) => return Err(format!("transport {other} is not of this binding")),
        };
        read.check().map(|()| read)
    }

    fn take(&mut self, option: &str, value: String) -> Result<(), String> {
        let unknown = || Err(format!("{option} cannot be {value}"));
        match option {
            "--binding" => self.binding = value,
            "--codec" => self.codec = value,
            "--host" => self.address.0 = value,
            "--reply" => self.reply = value.into(),
            "--port" => match value.parse() {
                Ok(port) if port > 0 => self.address.1 = port,
                _ => return unknown(),
            },
            "--processors" => match value.parse() {
                Ok(count @ 1..=1024) => self.processors = count,
                _ => return unknown(),
            },
            "--compression" => match value.as_str() {
                "none" => self.compression = None,
                "gzip" => self.compression = Some(Coding::Gzip),
                "zstd" => self.compression = Some(Coding::Zstd),
                _ => return unknown(),
            },
            "--numbered" => match value.as_str() {
                "numbers" => self.numbered = Numbered::Numbers,
                "text" => self.numbered = Numbered::Text,
                _ => return unknown(),
            },
            _ => return Err(format!("{option} is not an option")),
        }
        Ok(())
    }

    fn check(&self) -> Result<(), String> {
        if !STACKS.contains(&(self.binding.as_str(), self.codec.as_str())) {
            let Options { binding, codec, .. } = self;
            return Err(format!(
                "binding {binding} with codec {codec} is not offered"
            ));
        }
        if self.address.1 == 0 || self.reply.as_os_str().is_empty() {
            return Err("--port and --reply are needed".to_owned());
        }
        Ok(())
    }
}
