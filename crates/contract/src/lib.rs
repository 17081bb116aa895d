//! What services do, whatever they speak: typed messages and the canonical model.
