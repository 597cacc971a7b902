"""Devices that compute: the processor, CUDA and OpenCL devices."""
