// Left empty: nothing is compiled against CUDA's headers.
