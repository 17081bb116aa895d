"""Usability surveys: a kit for participants who try two libraries, and the evaluation.

After Hamo and Saberian (2023), *Evaluating the performance and usability of HTTP vs gRPC in
communication between microservices*, section 3 and appendix A.
"""
