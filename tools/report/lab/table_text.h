#pragma once

#include <span>
#include <string>
#include <vector>

#include "common/draw/spectrum.h"
#include "common/draw/terminal.h"
#include "common/wire/lab_table.h"
#include "tools/analysis/lab_cost.h"

namespace fieldcost::report {

// Lab tables as text and CSV. Deterministic; everything is escaped. The sentence that describes a
// shape is stats::Sentence().

// A heading, then one line per API: the time of all its calls and its share of `whole_ns`, name,
// library, calls, p50, p99, the variation between runs, bytes allocated per call, shape, spectrum;
// as many of these columns as fit the terminal. "-" = not timed, or too few values. Spectra share
// one scale, which the last line shows.
std::string LabTableText(std::span<const analysis::LabCost> costs, double whole_ns,
                         const draw::Style& style);

// Notes on the table's numbers: one line, with a newline. `table` is its text: only columns that
// occur there are explained.
std::string LabNote(std::span<const wire::LabPart> parts, std::string_view table,
                    const draw::Style& style);

// The evidence for an API's shape, one line each, without newlines and without the points of a
// growth curve. Empty if there were too few calls. Costs of 2^octaves ns are shown as times.
std::vector<std::string> EvidenceLines(const analysis::LabCost& cost, const draw::Style& style);
std::string OctavesText(double octaves, const draw::Style& style);

// An API's shape as a sentence, followed by the evidence; complete lines, each indented by two.
std::string ShapeText(const analysis::LabCost& cost, const draw::Style& style);

// One record per API: api, library, symbol, name, version, build_id, symbol_version, own, calls,
// timed, runs, total_ns (calls times the mean of the timed ones), mean, p50, p50_low, p50_high, the
// same for p95 and p99, run_spread, alloc_per_call, shape (stats::Name), sentence, start_up_ratio,
// first_call_bytes_only, growth_argument, growth_exponent, growth_r_squared, growth_explained,
// dear_share.
std::string LabCsv(const std::vector<analysis::LabCost>& costs);

// The times of a function's calls; null if none was timed. And their histogram.
const analysis::MetricSummary* LabTimes(const analysis::LabCost& cost);
draw::Bars LabBars(const analysis::MetricSummary& times);

// The range of argument values in a bucket: "64–127".
std::string InputText(unsigned slot, const draw::Style& style);

// "1.4 %", "12 %", "-".
std::string SpreadText(const std::optional<double>& run_spread);

}  // namespace fieldcost::report
