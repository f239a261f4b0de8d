// Texts of the programs of automatic mode.
#include <shardtype/autodiff/loss_program.ipp>
#include <shardtype/freeze/source_values.ipp>
#include <shardtype/freeze/source_writer.ipp>
#include <shardtype/freeze/text.ipp>
#include <shardtype/lazy/evaluate.ipp>
#include <shardtype/lazy/explain.ipp>
#include <shardtype/lazy/part_finder.ipp>
#include <shardtype/lazy/planned_program.ipp>
#include <shardtype/lazy/run.ipp>
#include <shardtype/lazy/step_texts.ipp>
#include <shardtype/lazy/to_json.ipp>
#include <shardtype/lazy/traced_run.ipp>
