package service

import (
	"net"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Names and meanings are those of docs/reference/process.md.
var (
	callsDesc = prometheus.NewDesc("wirelab_calls_total",
		"Calls that reached the service's own code.", []string{"operation"}, nil)
	errorsDesc = prometheus.NewDesc("wirelab_errors_total",
		"Calls answered with an application error.", []string{"operation"}, nil)
	inFlightDesc = prometheus.NewDesc("wirelab_calls_in_flight",
		"Calls under way now.", nil, nil)
	secondsDesc = prometheus.NewDesc("wirelab_call_seconds_total",
		"Time spent in calls, from entry into the service's code to its return.", nil, nil)
	connectionsDesc = prometheus.NewDesc("wirelab_connections_total",
		"Connections accepted.", nil, nil)
	moneyDesc = prometheus.NewDesc("wirelab_money_total",
		"The sum of all balances.", nil, nil)
	storeDesc = prometheus.NewDesc("wirelab_store_connections",
		"Connections of the database's pool now.", []string{"state"}, nil)
	itemsDesc = prometheus.NewDesc("wirelab_stream_items_total",
		"Items sent by Feed and Chat.", nil, nil)
	lateItemsDesc = prometheus.NewDesc("wirelab_stream_late_items_total",
		"Items of Feed sent more than 10 ms after they were due.", nil, nil)
	cancelledDesc = prometheus.NewDesc("wirelab_stream_cancelled_total",
		"Streams of Feed and Chat that ended before their last item.", nil, nil)
	delayDesc = prometheus.NewDesc("wirelab_delay_seconds",
		"What the injected delays really were.", nil, nil)
)

// callsCollector shows Calls to Prometheus.
type callsCollector struct{ *Calls }

// Describe implements prometheus.Collector.
func (callsCollector) Describe(into chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{callsDesc, errorsDesc, inFlightDesc, secondsDesc,
		connectionsDesc, moneyDesc, delayDesc, storeDesc, itemsDesc, lateItemsDesc, cancelledDesc} {
		into <- desc
	}
}

// Collect implements prometheus.Collector.
func (c callsCollector) Collect(into chan<- prometheus.Metric) {
	counter := func(desc *prometheus.Desc, value float64, labels ...string) {
		into <- prometheus.MustNewConstMetric(desc, prometheus.CounterValue, value, labels...)
	}
	for i, operation := range c.contract.Operations {
		counter(callsDesc, float64(c.operations[i].begun.Load()), operation.Name)
		counter(errorsDesc, float64(c.operations[i].failed.Load()), operation.Name)
	}
	counter(secondsDesc, float64(c.spentNs.Load())/1e9)
	counter(connectionsDesc, float64(c.connections.Load()))
	into <- prometheus.MustNewConstMetric(inFlightDesc, prometheus.GaugeValue, float64(c.inFlight()))
	if c.contract.Money != nil {
		into <- prometheus.MustNewConstMetric(moneyDesc, prometheus.GaugeValue, float64(c.contract.Money()))
	}
	if streams := c.contract.Streams; streams != nil {
		counter(itemsDesc, float64(streams.Items.Load()))
		counter(lateItemsDesc, float64(streams.Late.Load()))
		counter(cancelledDesc, float64(streams.Cancelled.Load()))
	}
	if c.contract.Database != nil {
		inUse, idle := c.contract.Database.Connections()
		into <- prometheus.MustNewConstMetric(storeDesc, prometheus.GaugeValue, float64(inUse), "in_use")
		into <- prometheus.MustNewConstMetric(storeDesc, prometheus.GaugeValue, float64(idle), "idle")
	}
	into <- c.delays()
}

func (c callsCollector) delays() prometheus.Metric {
	if c.delay == nil {
		return prometheus.MustNewConstSummary(delayDesc, 0, 0, nil)
	}
	count, sumS, quantiles := c.delay.given.summary(0.5, 0.99)
	return prometheus.MustNewConstSummary(delayDesc, count, sumS, quantiles)
}

// serveMetrics answers GET /metrics and GET /codec-times on listener until it is closed.
func serveMetrics(listener net.Listener, calls *Calls) error {
	registry := prometheus.NewRegistry()
	registry.MustRegister(callsCollector{calls}, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /codec-times", func(w http.ResponseWriter, request *http.Request) {
		serveCodecTimes(w, request, calls)
	})
	return (&http.Server{Handler: mux}).Serve(listener)
}
