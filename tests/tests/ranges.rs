//! What the library is asked for stands in spans, in order.

use integration_tests::case::Case;
use integration_tests::random::rng;
use integration_tests::sample::Precision;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};
use warpbeam::{Backend, DasPlan, Tensor, ops};

/// Writes the names of spans down as they are opened and left.
#[derive(Clone, Default)]
struct Recorder {
    names: Arc<Mutex<Vec<&'static str>>>,
    log: Arc<Mutex<Vec<String>>>,
    next: Arc<AtomicU64>,
}

impl Recorder {
    fn write(&self, mark: char, span: &Id) {
        let name = self.names.lock().unwrap_or_else(PoisonError::into_inner)[span.into_u64() as usize - 1];
        self.log
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(format!("{mark}{name}"));
    }
}

impl Subscriber for Recorder {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "warpbeam"
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        names.push(span.metadata().name());
        Id::from_u64(self.next.fetch_add(1, Ordering::Relaxed) + 1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {}

    fn enter(&self, span: &Id) {
        self.write('+', span);
    }

    fn exit(&self, span: &Id) {
        self.write('-', span);
    }
}

#[test]
fn plans_transfers_runs_and_operations() {
    let backend = Backend::cpu();
    let mut rng = rng();
    let case = Case::default();
    let (geometry, _) = case.geometry(&mut rng, Precision::Single);
    let data = case.data::<f32>(&mut rng);
    let recorder = Recorder::default();
    tracing::subscriber::with_default(recorder.clone(), || {
        let stream = backend.stream().unwrap();
        let plan = DasPlan::<f32>::new(&backend, &geometry, &case.options).unwrap();
        let data = Tensor::from_array(&backend, &data).unwrap();
        let mut image = Tensor::zeros(&backend, &case.output_shape()).unwrap();
        plan.run_into(&data, &mut image, &stream).unwrap();
        let copy = ops::contiguous_copy(&image, &stream).unwrap();
        copy.to_array().unwrap();
    });
    let log = recorder.log.lock().unwrap_or_else(PoisonError::into_inner);
    let expected = ["das plan", "upload", "das", "contiguous copy", "download"];
    let expected: Vec<String> = expected
        .iter()
        .flat_map(|name| [format!("+{name}"), format!("-{name}")])
        .collect();
    assert_eq!(*log, expected);
}
