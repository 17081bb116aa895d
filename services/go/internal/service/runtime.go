package service

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const gogcDefault = 100

// setRuntime sets processors and collector, also where the configuration
// leaves them to Go, so that GOMAXPROCS, GOGC and GOMEMLIMIT of the
// environment have no say.
func setRuntime(config *Config) {
	processors, gogc, limit := runtime.NumCPU(), gogcDefault, int64(math.MaxInt64)
	if config.Processors != nil {
		processors = *config.Processors
	}
	if config.Collector.GOGC != nil {
		gogc = *config.Collector.GOGC
	}
	if config.Collector.MemoryLimitBytes != nil {
		limit = *config.Collector.MemoryLimitBytes
	}
	runtime.GOMAXPROCS(processors)
	debug.SetGCPercent(gogc)
	debug.SetMemoryLimit(limit)
}

// runtimeState is the current setting of the runtime.
func runtimeState() (processors int, gogc int64, memoryLimitBytes *int64) {
	samples := []metrics.Sample{{Name: "/gc/gogc:percent"}, {Name: "/gc/gomemlimit:bytes"}}
	metrics.Read(samples)
	// Off is -1 as SetGCPercent has it, but the largest uint64 here.
	gogc = int64(samples[0].Value.Uint64())
	if limit := int64(samples[1].Value.Uint64()); limit != math.MaxInt64 {
		memoryLimitBytes = &limit
	}
	return runtime.GOMAXPROCS(0), gogc, memoryLimitBytes
}
