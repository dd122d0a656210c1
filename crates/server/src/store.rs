//! Where objects go so that they outlive the process.
//!
//! The server reads from memory only. A store takes each transaction's changes before they are visible, and hands all
//! objects back at the next start.

use std::io;

use bytes::Bytes;

/// One object as a transaction leaves it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// `group/plural`; the core group is empty.
    pub collection: String,
    /// Empty at cluster scope.
    pub namespace: String,
    /// Its name there.
    pub name: String,
    /// The revision of the change.
    pub revision: u64,
    /// The object as JSON; `None` if it is gone.
    pub body: Option<Bytes>,
}

/// Keeps what the server commits.
pub trait Store: Send + Sync {
    /// Takes the changes of one transaction, in order. What it fails to take is not done.
    fn commit(&mut self, records: &[Record]) -> io::Result<()>;

    /// Everything that was committed and is not gone, in any order.
    fn load(&mut self) -> io::Result<Vec<Record>>;

    /// Whether `commit` needs to be called at all.
    fn keeps(&self) -> bool {
        true
    }
}

/// Keeps nothing: the cluster ends with the process.
#[derive(Debug, Default)]
pub struct Memory;

impl Store for Memory {
    fn commit(&mut self, _: &[Record]) -> io::Result<()> {
        Ok(())
    }

    fn load(&mut self) -> io::Result<Vec<Record>> {
        Ok(Vec::new())
    }

    fn keeps(&self) -> bool {
        false
    }
}
