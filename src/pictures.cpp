// Pictures of tensors and programs.
#include <shardtype/visualize/array_text.ipp>
#include <shardtype/visualize/choices.ipp>
#include <shardtype/visualize/curves.ipp>
#include <shardtype/visualize/drawing.ipp>
#include <shardtype/visualize/pixels.ipp>
#include <shardtype/visualize/png.ipp>
#include <shardtype/visualize/print.ipp>
#include <shardtype/visualize/program_page.ipp>
#include <shardtype/visualize/timeline.ipp>
