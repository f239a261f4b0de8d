// Reading and writing of files.
#include <shardtype/io/byte_reader.ipp>
#include <shardtype/io/npy.ipp>
#include <shardtype/io/npy_dtype.ipp>
#include <shardtype/io/npy_file.ipp>
#include <shardtype/io/npy_header.ipp>
#include <shardtype/io/npy_replacement.ipp>
#include <shardtype/io/npy_slabs.ipp>
#include <shardtype/io/npy_transfer.ipp>
