//! A connection whose other end must go on taking what is sent to it.

use std::io::{Error, ErrorKind, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// Fails with [`ErrorKind::TimedOut`] once a write has waited for `most`.
pub(crate) struct Patient<S> {
    stream: S,
    most: Duration,
    waiting: Option<Pin<Box<Sleep>>>,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Patient<S> {
    pub fn new(stream: S, most: Duration) -> Self {
        Self { stream, most, waiting: None }
    }

    fn write<T>(
        &mut self,
        context: &mut Context<'_>,
        write: impl FnOnce(Pin<&mut S>, &mut Context<'_>) -> Poll<Result<T, Error>>,
    ) -> Poll<Result<T, Error>> {
        if let Poll::Ready(written) = write(Pin::new(&mut self.stream), context) {
            self.waiting = None;
            return Poll::Ready(written);
        }
        let most = self.most;
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(sleep(most)));
        ready!(waiting.as_mut().poll(context));
        Poll::Ready(Err(Error::new(ErrorKind::TimedOut, "the other end takes nothing")))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Patient<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<Result<(), Error>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Patient<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<Result<usize, Error>> {
        self.write(context, |stream, context| stream.poll_write(context, bytes))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<Result<usize, Error>> {
        self.write(context, |stream, context| stream.poll_write_vectored(context, slices))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.write(context, AsyncWrite::poll_flush)
    }

    fn poll_shutdown(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), Error>> {
        self.write(context, AsyncWrite::poll_shutdown)
    }
}
