"""What computes: the processor, CUDA and OpenCL devices."""
